"""A refusal says which function it is about, though it is a rule that can't be compiled."""

import numpy as np
import pytest

from srcgrad import UnsupportedError, grad, ir, jvp
from srcgrad.frontend.refusals import instead_of
from srcgrad.kinds import FLOAT
from srcgrad.testing import check_grads
from tests.rules.expressions import check, function

integrate = pytest.importorskip("scipy.integrate")
interpolate = pytest.importorskip("scipy.interpolate")
optimize = pytest.importorskip("scipy.optimize")
signal = pytest.importorskip("scipy.signal")
spatial = pytest.importorskip("scipy.spatial")
stats = pytest.importorskip("scipy.stats")

X = np.array([0.3, 0.5, 0.71])
REFUSED = {
    "np.polyval(np.outer(x, x), x)": "np.polyval can't be differentiated like this: .* several",
    "np.polyadd(np.outer(x, x), x)": "np.polyadd can't be differentiated like this: .* several",
    "stats.zscore(x, nan_policy='omit')": r"stats\.zscore is differentiated without nan_policy=",
    "stats.linregress(x, x**2, alternative='less')[0]": "linregress is differentiated without alt",
    "np.array_split([x, x], 2, 1)[0]": "np.array_split takes the length of a list for that of any",
    "np.geomspace(x[0] + 1j, 2, 4, dtype=float)": "complex numbers with a real dtype",
    "np.linalg.qr(np.outer(x, x), mode='economic')": "np.linalg.qr of this mode",
    "np.hsplit([x, x], [1])[0]": "np.hsplit takes the length of a list for that of any axis",
    "np.fft.ifft2(np.outer(x, x), out=np.zeros((3, 3), complex))": "ifft2 writes nothing into out=",
    "np.lib.stride_tricks.as_strided(x[0], (2,), (0,))": "of a number: use np.broadcast_to",
    "signal.filtfilt([1.0], [1.0, 0.5], x, method='gust')": "filtfilt has a rule for method='pad'",
}


@pytest.mark.parametrize("expression", REFUSED)
def test_the_function_is_named(expression):
    f = function(expression, 1, signal=signal, stats=stats)
    with pytest.raises(UnsupportedError, match=REFUSED[expression]):
        grad(f)(X)
    with pytest.raises(UnsupportedError, match=REFUSED[expression]):
        jvp(f, (X,), (X,))


def volume(x):
    return spatial.ConvexHull(np.outer(x, x) + np.eye(3)).volume


def area(x):
    return spatial.Voronoi(np.outer(x, x) + np.eye(3)[:, :2]).vertices[0, 0]


@pytest.mark.parametrize(("f", "name"), [(volume, "ConvexHull"), (area, "Voronoi")])
def test_what_made_an_object_is_named(f, name):
    message = rf"what scipy\.spatial\.{name} returns can't be differentiated"
    with pytest.raises(UnsupportedError, match=message):
        grad(f)(X)


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x: stats.cramervonmises(x, "norm").statistic, "scipy.stats.cramervonmises"),
        (lambda x: optimize.isotonic_regression(x).x.sum(), "scipy.optimize.isotonic_regression"),
        (
            lambda x: interpolate.make_lsq_spline(X, x, [0, 0, 4, 4], k=1)(2.5),
            "scipy.interpolate.make_lsq_spline",
        ),
        (lambda x: stats.ecdf(x).cdf.quantiles.sum(), "scipy.stats.ecdf"),
        (lambda x: spatial.KDTree(x[:, None]).query([0.4])[0], "this"),
    ],
)
def test_what_made_an_object_says_why_it_has_no_rule(f, name):
    with pytest.raises(UnsupportedError) as caught:
        grad(f)(X)
    assert caught.value.message.startswith(f"{name} can't be differentiated: ")


def test_other_array_libraries_are_told_from_numpy():
    other = pytest.importorskip("autograd.numpy")
    called = ir.Assign(ir.Var("total", FLOAT), other.sum, ())
    assert instead_of(called) == "srcgrad differentiates NumPy itself: import numpy as np"


def test_functions_that_wrap_those_of_numpy_for_what_is_no_array_are_followed():
    """HIPS autograd asks its arguments for what arrays haven't, but where they are its own."""
    other = pytest.importorskip("autograd.numpy")

    def f(x):
        y = other.where(x > 0, other.sin(x), other.exp(x))
        first = other.sum(other.array([y[0], x[1] * y[2]]) ** 2)
        return first + other.linalg.norm(other.concatenate([x, y]))

    check_grads(f, (X,))


def test_methods_of_distributions_are_named():
    with pytest.raises(
        UnsupportedError, match=r"^  File .*\n.*\n.*\nscipy.stats.norm.interval has no"
    ):
        grad(lambda x: stats.norm.interval(0.9, x[0])[1])(X)


def test_a_function_that_is_passed_on_says_to_which():
    message = "a function can't be passed to scipy.integrate.nquad, which"
    with pytest.raises(UnsupportedError, match=message):
        grad(lambda x: integrate.nquad(lambda t: t * x[0], [[0.0, 1.0]])[0])(X)


def test_a_default_that_a_definition_does_not_take_is_none_at_all():
    check("stats.zscore(x, nan_policy='propagate')", X, stats=stats)


def several(x, given):
    first, second = np.zeros(3), np.zeros(3)
    if given > 1:
        np.divmod(x, 0.2, first, second)
    else:
        np.divmod(x, 0.2, first)
        second = np.modf(x, second)[1]
    return np.sum(first * x**2) + np.sum(second**2 * x)


@pytest.mark.parametrize("given", [1, 2])
def test_several_results_may_be_written_by_position(given):
    first, second = np.divmod(X, 0.2)
    expected = 2 * first * X + (second**2 + 2 * second * X if given > 1 else 0)
    np.testing.assert_allclose(grad(several)(X, given), expected)


def test_results_that_are_written_nowhere_are_returned():
    check("np.divmod(x, 0.2, out=(None, np.zeros(3)))[0] * x", X)
    check("np.modf(x, out=(None, np.zeros(3)))[0]", X)
    check("np.sin(x, out=(None,))", X)


@pytest.mark.parametrize("shape", ["(3, 'C')", "(3, None)", "(3, 1.5)"])
def test_lengths_that_are_no_ints(shape):
    with pytest.raises(TypeError, match="int"):
        grad(function(f"np.reshape(x, {shape})", 1))(X)


def split_at(x, n):
    places = [[1], [1, 2], [2]]
    return np.sum(np.split(x, places[n])[-1] ** 2)


def split_where(x):
    return np.sum(np.split(x, np.flatnonzero(x > 0.5))[-1] ** 2)


def test_pieces_of_which_only_the_run_tells_how_many_they_are():
    for n in (0, 1):
        np.testing.assert_allclose(grad(split_at)(X, n), np.where(np.arange(len(X)) > n, 2 * X, 0))
    last = np.arange(len(X)) >= np.flatnonzero(X > 0.5)[-1]
    np.testing.assert_allclose(grad(split_where)(X), np.where(last, 2 * X, 0))
