"""Interpolants that the differentiated code makes: derivatives by the data, the knots, the points.

Each is a piecewise polynomial, made in NumPy as SciPy makes it. A cubic one is given by the values
and the slopes at the knots (Hermite's form); what differs is how the slopes are found: by a
tridiagonal system where the second derivative is continuous (C. de Boor, "A Practical Guide to
Splines", chapter IV), else by the local formulas of Fritsch and Butland, or Akima.
"""

from __future__ import annotations

import numpy as np
from scipy import interpolate, linalg

from ..registry import definition, passes_for, refuse
from .left import left


@passes_for(interpolate.interp1d)
class PiecewisePolynomial:
    """Polynomials between knots, their coefficients from the highest power down.

    `axis` is that of the data that the knots go along: the axes of the points take its place in
    the result.
    """

    def __init__(self, coefficients, x, extrapolate, axis):
        self.coefficients, self.x, self.axis = coefficients, x, axis
        self.extrapolate = extrapolate

    def __call__(self, x, nu=0, extrapolate=None):
        x = np.asarray(x)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        c = derived(self.coefficients, nu)
        if extrapolate == "periodic":
            x = within_period(x, self.x[0], self.x[-1])
        i = np.clip(np.searchsorted(self.x, x, "right") - 1, 0, len(self.x) - 2)
        later = np.ndim(c[0]) - 1
        d = aligned(x - self.x[i], later)
        total = c[0][i]
        for k in range(1, len(c)):
            total = total * d + c[k][i]
        if not extrapolate:
            total = nan_outside(total, x, self.x[0], self.x[-1], later)
        return as_array(in_place(total, x.ndim, self.axis))

    def like(self, coefficients):
        """The same with other coefficients."""
        return type(self)(coefficients, self.x, self.extrapolate, self.axis)

    def derivative(self, nu=1):
        if nu < 0:
            return self.antiderivative(-nu)
        return self.like(derived(self.coefficients, nu))

    def antiderivative(self, nu=1):
        if nu < 0:
            return self.derivative(-nu)
        c = self.coefficients
        for _ in range(nu):
            c = integrated(c, self.x)
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return type(self)(c, self.x, extrapolate, self.axis)

    def integrate(self, a, b, extrapolate=None):
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if extrapolate == "periodic":
            raise NotImplementedError("the integral of a periodic spline has no derivative")
        primitive = PiecewisePolynomial(integrated(self.coefficients, self.x), self.x, True, 0)
        total = primitive(b) - primitive(a)
        if extrapolate:
            return as_array(total)
        start, end = self.x[0], self.x[-1]
        outside = (a < start) | (a > end) | (b < start) | (b > end)
        return as_array(np.where(outside, np.nan, total))


class Polynomials(PiecewisePolynomial):
    """What SciPy makes a `PPoly`, whose coefficients can be looked at."""

    @property
    def c(self):
        return np.stack(self.coefficients)


@passes_for(interpolate.CubicSpline)
class Cubic(Polynomials):
    pass


@passes_for(interpolate.CubicHermiteSpline)
class Hermite(Polynomials):
    pass


@passes_for(interpolate.PchipInterpolator)
class Pchip(Polynomials):
    pass


@passes_for(interpolate.Akima1DInterpolator)
class Akima(Polynomials):
    pass


@passes_for(interpolate.BSpline)
class Interpolating(PiecewisePolynomial):
    """What SciPy makes a `BSpline`, whose integral is of zeros where it isn't extrapolated."""

    def integrate(self, a, b, extrapolate=None):
        if not (self.extrapolate if extrapolate is None else extrapolate):
            raise NotImplementedError("its integral is differentiated with extrapolate=True")
        return super().integrate(a, b, extrapolate)


@passes_for(interpolate.UnivariateSpline, interpolate.InterpolatedUnivariateSpline)
class Fitted:
    """What SciPy makes a `UnivariateSpline`."""

    def __init__(self, inner):
        self.inner = inner

    def __call__(self, x, nu=0, ext=None):
        if ext is not None and ext != 0 and ext != "extrapolate":
            raise NotImplementedError("a UnivariateSpline is differentiated with ext=0")
        return self.inner(x, nu)

    def derivative(self, n=1):
        return Fitted(self.inner.derivative(n))

    def antiderivative(self, n=1):
        return Fitted(self.inner.antiderivative(n))


def as_array(values):
    """What SciPy's interpolants give of one point: an array, not a number."""
    return np.asarray(values) if np.ndim(values) == 0 else values


def aligned(x, count):
    """With so many axes more at the end."""
    return x if count == 0 else np.reshape(x, np.shape(x) + (1,) * count)


def within_period(x, start, end):
    return start + (x - start) % (end - start)


def nan_outside(values, x, start, end, later):
    return np.where(aligned((x < start) | (x > end), later), np.nan, values)


def in_place(values, count, axis):
    """With the first axes, those of the points, where the axis of the data was."""
    if axis == 0 or count == 0:
        return values
    return np.moveaxis(values, tuple(range(count)), tuple([axis + i for i in range(count)]))


def derived(c, nu):
    """The coefficients of a derivative."""
    if nu < 0:
        raise ValueError("Order of derivative cannot be negative")
    for _ in range(nu):
        count = len(c)
        if count == 1:
            c = (0.0 * c[0],)
        else:
            c = tuple([c[k] * float(count - 1 - k) for k in range(count - 1)])
    return c


def integrated(c, x):
    """The coefficients of the antiderivative that begins with zero."""
    count = len(c)
    higher = [c[k] / float(count - k) for k in range(count)]
    widths = aligned(np.diff(x), np.ndim(c[0]) - 1)
    areas = 0.0 * c[0]
    for k in range(count):
        areas = (areas + higher[k]) * widths
    before = np.cumsum(areas, axis=0) - areas
    return (*higher, before)


# Cubic interpolants


def hermite(x, y, slopes):
    """The coefficients of the cubic polynomials with the given values and slopes at the knots."""
    width = aligned(np.diff(x), np.ndim(y) - 1)
    secant = np.diff(y, axis=0) / width
    excess = (slopes[:-1] + slopes[1:] - 2 * secant) / width
    return (excess / width, (secant - slopes[:-1]) / width - excess, slopes[:-1], y[:-1])


def along(y, axis):
    """Data with the axis that the knots go along in front, as floats or complex numbers."""
    return np.moveaxis(np.asarray(y), axis, 0) * 1.0


def smooth_slopes(x, y, start, end):
    """The slopes with which the second derivative is continuous.

    `start` and `end` say what holds at the ends: the string "not-a-knot", or a pair of the order
    of a derivative and its value.
    """
    n = len(x)
    h = np.diff(x)
    hh = aligned(h, np.ndim(y) - 1)
    secant = np.diff(y, axis=0) / hh
    zero = np.zeros(1)
    inner = 3 * (hh[1:] * secant[:-1] + hh[:-1] * secant[1:])
    if start == "not-a-knot":
        two = hh[0] + hh[1]
        first = ((hh[0] + 2 * two) * hh[1] * secant[0] + hh[0] ** 2 * secant[1]) / two
        corner, beside = h[1], h[0] + h[1]
    else:
        first, corner, beside = end_condition(start, hh[0], secant[0], h[0], -1.0)
    if end == "not-a-knot":
        two = hh[-1] + hh[-2]
        last = (hh[-1] ** 2 * secant[-2] + (2 * two + hh[-1]) * hh[-2] * secant[-1]) / two
        corner_, beside_ = h[-2], h[-1] + h[-2]
    else:
        last, corner_, beside_ = end_condition(end, hh[-1], secant[-1], h[-1], 1.0)
    b = np.concatenate((first[None], inner, last[None]))
    upper = np.concatenate((zero, np.array([beside]), h[:-1]))
    middle = np.concatenate((np.array([corner]), 2 * (h[:-1] + h[1:]), np.array([corner_])))
    lower = np.concatenate((h[1:], np.array([beside_]), zero))
    flat = np.reshape(b, (n, -1))
    return np.reshape(linalg.solve_banded((1, 1), np.stack((upper, middle, lower)), flat), b.shape)


def end_condition(condition, width, secant, h, sign):
    """The equation of an end: its right side, and what stands on and beside the diagonal."""
    order, value = condition
    if order == 1:
        return value + 0.0 * secant, 1.0, 0.0
    return sign * 0.5 * value * width**2 + 3 * secant * width, 2 * h, h


def both_ends(bc_type):
    """What a `bc_type` says of each end."""
    pair = bc_type if isinstance(bc_type, tuple) else (bc_type, bc_type)
    found = []
    for one in pair:
        if isinstance(one, str):
            if one == "periodic":
                raise NotImplementedError("a periodic spline made here has no derivative")
            named = {"not-a-knot": "not-a-knot", "natural": (2, 0.0), "clamped": (1, 0.0)}
            found.append(named[one])
        else:
            found.append(one)
    return found


def cubic(x, y, bc_type="not-a-knot"):
    """The coefficients of the spline through all points."""
    start, end = both_ends(bc_type)
    if len(x) < 4:
        raise ValueError("a spline that is differentiated by its data needs four knots or more")
    return hermite(x, y, smooth_slopes(x, y, start, end))


@definition(interpolate.CubicSpline)
def cubic_spline(x, y, axis=0, bc_type="not-a-knot", extrapolate=None):
    x, axis = np.asarray(x) * 1.0, axis % np.ndim(y)
    c = cubic(x, along(y, axis), bc_type)
    return Cubic(c, x, True if extrapolate is None else extrapolate, axis)


@definition(interpolate.CubicHermiteSpline)
def cubic_hermite_spline(x, y, dydx, axis=0, extrapolate=None):
    x, axis = np.asarray(x) * 1.0, axis % np.ndim(y)
    c = hermite(x, along(y, axis), along(dydx, axis))
    return Hermite(c, x, True if extrapolate is None else extrapolate, axis)


@definition(interpolate.PchipInterpolator)
def pchip(x, y, axis=0, extrapolate=None):
    x, axis = np.asarray(x) * 1.0, axis % np.ndim(y)
    y = along(y, axis)
    if len(x) < 3:
        raise ValueError("a PchipInterpolator that is differentiated needs three knots or more")
    h = aligned(np.diff(x), np.ndim(y) - 1)
    secant = np.diff(y, axis=0) / h
    left, right = secant[:-1], secant[1:]
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    monotone = left * right > 0
    safe_left, safe_right = np.where(monotone, left, 1.0), np.where(monotone, right, 1.0)
    mean = (w1 + w2) / (w1 / safe_left + w2 / safe_right)
    inner = np.where(monotone, mean, 0.0)
    first = pchip_end(h[0], h[1], secant[0], secant[1])
    last = pchip_end(h[-1], h[-2], secant[-1], secant[-2])
    slopes = np.concatenate((first[None], inner, last[None]))
    c = hermite(x, y, slopes)
    return Pchip(c, x, True if extrapolate is None else extrapolate, axis)


def pchip_end(h0, h1, near, far):
    """Three-point formula, limited so that the end keeps the shape of the data."""
    slope = ((2 * h0 + h1) * near - h0 * far) / (h0 + h1)
    steep = (np.sign(near) != np.sign(far)) & (np.abs(slope) > 3 * np.abs(near))
    limited = np.where(steep, 3 * near, slope)
    return np.where(np.sign(slope) != np.sign(near), 0.0, limited)


@definition(interpolate.Akima1DInterpolator)
def akima(x, y, axis=0, *, method="akima", extrapolate=None):
    if method != "akima":
        raise NotImplementedError("Akima1DInterpolator is differentiated with method='akima'")
    x, axis = np.asarray(x) * 1.0, axis % np.ndim(y)
    y = along(y, axis)
    if len(x) < 3:
        raise ValueError("an Akima1DInterpolator that is differentiated needs three knots or more")
    m = np.diff(y, axis=0) / aligned(np.diff(x), np.ndim(y) - 1)
    before = 2 * m[0] - m[1]
    after = 2 * m[-1] - m[-2]
    ends = ((2 * before - m[0])[None], before[None], m, after[None], (2 * after - m[-1])[None])
    m = np.concatenate(ends)
    change = np.abs(np.diff(m, axis=0))
    w1, w2 = change[2:], change[:-2]
    both = w1 + w2
    bends = both > 1e-9 * np.max(both, initial=-np.inf)
    safe = np.where(bends, both, 1.0)
    slopes = np.where(bends, (w1 * m[1:-2] + w2 * m[2:-1]) / safe, 0.5 * (m[3:] + m[:-3]))
    c = hermite(x, y, slopes)
    return Akima(c, x, False if extrapolate is None else extrapolate, axis)


# Others


def linear(x, y):
    """The coefficients of the lines between the points."""
    return (np.diff(y, axis=0) / aligned(np.diff(x), np.ndim(y) - 1), y[:-1])


@definition(interpolate.make_interp_spline)
def make_interp_spline(x, y, k=3, t=None, bc_type=None, axis=0):
    if t is not None or k not in (1, 3):
        raise NotImplementedError("make_interp_spline is differentiated with k=1 or 3, without t")
    x, axis = np.asarray(x) * 1.0, axis % np.ndim(y)
    y = along(y, axis)
    c = linear(x, y) if k == 1 else cubic(x, y, "not-a-knot" if bc_type is None else bc_type)
    return Interpolating(c, x, True, axis)


definition(interpolate.InterpolatedUnivariateSpline)(
    lambda x, y, w=None, bbox=None, k=3: Fitted(make_interp_spline(x, y, k))
)


@definition(interpolate.UnivariateSpline)
def univariate_spline(x, y, w=None, bbox=None, k=3, s=None):
    if s is None or s != 0:
        raise NotImplementedError(
            "UnivariateSpline is differentiated with s=0: how it smooths has no derivative"
        )
    return Fitted(make_interp_spline(x, y, k))


@definition(interpolate.interp1d)
def interp1d(
    x, y, kind="linear", axis=-1, copy=True, bounds_error=None, fill_value=np.nan,
    assume_sorted=False,
):  # fmt: skip
    if kind not in ("linear", "slinear", "cubic", 1, 3, *STEPS):
        raise NotImplementedError("interp1d is differentiated with kind='linear', 'cubic' or steps")
    x, y = np.asarray(x) * 1.0, np.moveaxis(np.asarray(y) * 1.0, axis, 0)
    later, axis = np.ndim(y) - 1, axis % np.ndim(y)
    if not assume_sorted:
        order = np.argsort(x)
        x, y = x[order], y[order]
    if kind in STEPS:
        inner = Steps(x, y, kind)
    elif (
        kind in ("linear", 1)
        and not isinstance(fill_value, str)
        and not np.iscomplexobj(y)
        and later == 0
    ):
        inner = Polygon(x, y)
    else:
        c = linear(x, y) if kind in ("linear", "slinear", 1) else cubic(x, y)
        inner = PiecewisePolynomial(c, x, True, 0)
    if isinstance(fill_value, str):
        if kind in STEPS:
            raise NotImplementedError("steps are differentiated without fill_value='extrapolate'")
        return PiecewisePolynomial(c, x, True, axis)
    low, high = fill_value if isinstance(fill_value, tuple) else (fill_value, fill_value)
    if later > 0 and (np.ndim(low) > 0 or np.ndim(high) > 0):
        raise NotImplementedError("interp1d of columns is differentiated with numbers to fill in")
    return Bounded(inner, bounds_error is None or bounds_error, (low, high), axis, later)


STEPS = ("zero", 0, "previous", "next", "nearest", "nearest-up")


class Steps:
    """The value at the knot before, behind or next to a point."""

    def __init__(self, x, y, kind):
        self.x, self.y, self.kind = x, y, kind

    def __call__(self, x):
        if self.kind in ("nearest", "nearest-up"):
            middles = self.x[1:] / 2.0 + self.x[:-1] / 2.0
            i = np.searchsorted(middles, x, "left" if self.kind == "nearest" else "right")
        elif self.kind == "next":
            i = np.searchsorted(self.x, x, "left")
        else:
            i = np.searchsorted(self.x, x, "right") - 1
        return self.y[np.clip(i, 0, len(self.x) - 1)]


class Polygon:
    """What SciPy leaves to `np.interp`, which takes several knots at one place."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __call__(self, x):
        return np.interp(x, self.x, self.y)


@passes_for(interpolate.interp1d)
class Bounded:
    """An interpolant that raises, or has other values, outside of its knots."""

    def __init__(self, inner, raises, fill, axis, later):
        self.inner, self.raises, self.fill = inner, raises, fill
        self.axis, self.later = axis, later

    def __call__(self, x):
        x = np.asarray(x)
        below, above = x < self.inner.x[0], x > self.inner.x[-1]
        if self.raises and np.any(below | above):
            raise ValueError("a value in x_new is outside the interpolation range")
        low, high = self.fill
        inside = np.where(aligned(above, self.later), high, self.inner(x))
        return in_place(np.where(aligned(below, self.later), low, inside), x.ndim, self.axis)


@passes_for(interpolate.BSpline)
class Spline:
    """A spline as the sum of B-splines, of the degree k, with the knots t."""

    def __init__(self, t, c, k, extrapolate):
        self.t, self.c, self.k, self.extrapolate = t, c, k, extrapolate

    def __call__(self, x, nu=0, extrapolate=None):
        x = np.asarray(x)
        t, c, k = slope_of_spline(self.t, self.c, self.k, nu)
        start, end, later = t[k], t[len(t) - k - 1], np.ndim(c) - 1
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if extrapolate == "periodic":
            x = within_period(x, start, end)
        i = np.clip(np.searchsorted(t, x, "right") - 1, k, len(t) - k - 2)
        weights = [np.ones(np.shape(x))]
        for degree in range(1, k + 1):
            higher = [np.zeros(np.shape(x)) for _ in range(degree + 1)]
            for j in range(degree):
                right, left = t[i + j + 1], t[i + j + 1 - degree]
                part = weights[j] / (right - left)
                higher[j] = higher[j] + (right - x) * part
                higher[j + 1] = (x - left) * part
            weights = higher
        total = c[i - k] * aligned(weights[0], later)
        for j in range(1, k + 1):
            total = total + c[i - k + j] * aligned(weights[j], later)
        return as_array(total if extrapolate else nan_outside(total, x, start, end, later))

    def derivative(self, nu=1):
        t, c, k = slope_of_spline(self.t, self.c, self.k, nu)
        return Spline(t, c, k, self.extrapolate)


def slope_of_spline(t, c, k, nu):
    """The knots, coefficients and degree of a derivative."""
    if nu < 0:
        raise NotImplementedError("the antiderivative of a BSpline has no derivative")
    for _ in range(nu):
        if k == 0:
            return t, 0.0 * c, k
        n = len(t) - k - 1
        widths = t[k + 1 : n + k] - t[1:n]
        several = widths == 0.0  # knots at one place: between them is nothing
        widths = aligned(np.where(several, 1.0, widths) / float(k), np.ndim(c) - 1)
        c, t, k = np.diff(c[:n], axis=0) / widths, t[1:-1], k - 1
    return t, c, k


@definition(interpolate.BSpline)
def b_spline(t, c, k, extrapolate=True, axis=0):
    if extrapolate is not True or axis != 0:
        raise NotImplementedError("BSpline is differentiated with extrapolate=True and axis=0")
    dtype = complex if np.iscomplexobj(c) else float  # an array of such numbers is kept, no copy
    return Spline(np.ascontiguousarray(t, float), np.ascontiguousarray(c, dtype), k, True)


@definition(interpolate.splrep)
def splrep(x, y, w=None, xb=None, xe=None, k=3, task=0, s=None):
    if w is not None or task != 0 or (s is not None and s != 0):
        raise NotImplementedError("splrep is differentiated where it interpolates: s=0, without w")
    return make_interp_spline(x, y, k)


@definition(interpolate.splev)
def splev(x, tck, der=0, ext=0):
    if ext != 0:
        raise NotImplementedError("splev is differentiated with ext=0")
    if isinstance(tck, Curve):
        return [one(x, der) for one in tck.components]
    if isinstance(tck, (tuple, list)):
        t, c, k = tck
        if np.ndim(c) > 1:
            return [splev(x, (t, one, k), der) for one in c]
        return Spline(np.asarray(t) * 1.0, np.asarray(c), k, True)(x, der)
    return tck(x, der)


@definition(interpolate.splprep)
def splprep(
    x, w=None, u=None, ub=None, ue=None, k=3, task=0, s=None, t=None, full_output=0, nest=None,
    per=0, quiet=1,
):  # fmt: skip
    through = s is not None and s == 0 and w is None and t is None
    if not through or ub is not None or ue is not None or task or full_output or per:
        raise NotImplementedError(
            "splprep is differentiated where it interpolates: s=0, by x and u"
        )
    rows = [np.asarray(row) * 1.0 for row in x]
    if u is None:
        steps = np.sqrt(sum([np.diff(row) ** 2 for row in rows]))
        along = np.append(0.0, np.cumsum(steps))
        u = along / along[-1]
    return Curve([make_interp_spline(u, row, k) for row in rows]), u


class Curve:
    """What `splprep` makes of points: an interpolant for each of their coordinates."""

    def __init__(self, components):
        self.components = components


@definition(interpolate.RegularGridInterpolator)
def regular_grid_interpolator(
    points, values, method="linear", bounds_error=True, fill_value=np.nan, *, solver=None
):
    if method != "linear":
        raise NotImplementedError("RegularGridInterpolator is differentiated with method='linear'")
    axes = tuple([np.asarray(p, float) for p in points])
    for p in axes:
        if len(p) < 2:
            raise ValueError("a grid that is differentiated needs two points along each axis")
        if p[0] > p[-1]:
            raise ValueError("a grid that is differentiated needs points in ascending order")
    values = np.asarray(values)
    if values.dtype.kind in "biu":
        values = values.astype(float)
    return Grid(axes, values, bounds_error, fill_value)


@passes_for(interpolate.RegularGridInterpolator)
class Grid:
    """Values on a grid, linear in each direction between them."""

    def __init__(self, points, values, raises, fill):
        self.points, self.values, self.raises, self.fill = points, values, raises, fill

    def __call__(self, xi, method="linear"):
        if method != "linear":
            raise NotImplementedError("an interpolant made here is asked with method='linear'")
        if isinstance(xi, tuple):
            xi = np.stack(np.broadcast_arrays(*xi), -1)
        elif np.ndim(xi) == 1:
            xi = np.reshape(xi, (-1, len(self.points)))
        xi = np.asarray(xi)
        corners = [((), 1.0)]
        anywhere = False
        for axis in range(len(self.points)):
            p, x = self.points[axis], xi[..., axis]
            outside = (x < p[0]) | (x > p[-1])
            if self.raises and np.any(outside):
                raise ValueError("one of the requested xi is out of bounds")
            anywhere = anywhere | outside
            i = np.clip(np.searchsorted(p, x, "right") - 1, 0, len(p) - 2)
            right = (x - p[i]) / (p[i + 1] - p[i])
            corners = [
                pair
                for index, weight in corners
                for pair in (((*index, i), weight * (1 - right)), ((*index, i + 1), weight * right))
            ]
        total, later = 0.0, np.ndim(self.values) - len(self.points)
        for index, weight in corners:
            total = total + self.values[index] * aligned(weight, later)
        if self.raises or self.fill is None:
            return as_array(total)
        return as_array(np.where(aligned(anywhere, later), self.fill, total))


@definition(interpolate.interpn)
def interpn(points, values, xi, method="linear", bounds_error=True, fill_value=np.nan):
    return regular_grid_interpolator(points, values, method, bounds_error, fill_value)(xi)


@definition(interpolate.lagrange)
def lagrange(x, w):
    return Lagrange(krogh_interpolator(x, w))


@passes_for(np.poly1d)
class Lagrange:
    """What SciPy makes a `poly1d`, whose value at a number is one."""

    def __init__(self, inner):
        self.inner = inner

    def __call__(self, x):
        return self.inner(x)[()]


@definition(interpolate.KroghInterpolator)
def krogh_interpolator(xi, yi, axis=0):
    xi = np.asarray(xi) * 1.0
    if np.any(xi[1:] == xi[:-1]):
        raise ValueError("a KroghInterpolator that is differentiated needs points that differ")
    return barycentric_interpolator(xi, np.asarray(yi) * 1.0, axis)


@definition(interpolate.BarycentricInterpolator)
def barycentric_interpolator(xi, yi, axis=0):
    y = np.asarray(yi)
    return Barycentric(np.asarray(xi), np.moveaxis(y, axis, 0), axis % np.ndim(y))


@passes_for(interpolate.BarycentricInterpolator, interpolate.KroghInterpolator)
class Barycentric:
    """The polynomial through all points, in Lagrange's form."""

    def __init__(self, x, y, axis):
        self.x, self.y, self.axis = x, y, axis

    def __call__(self, x):
        x = np.asarray(x)
        n = len(self.x)
        gaps = self.x[:, None] - self.x + np.eye(n)
        basis = 1.0
        others = x[..., None, None] - self.x + np.zeros((n, n))
        basis = np.prod(np.where(np.eye(n, dtype=bool), 1.0, others / gaps), axis=-1)
        values = basis @ self.y if np.ndim(self.y) <= 2 else np.tensordot(basis, self.y, 1)
        if self.axis == 0:
            return as_array(values)
        places = tuple(range(x.ndim))
        return np.moveaxis(values, places, tuple(self.axis + i for i in places))


barycentric_left = left(interpolate.barycentric_interpolate, "it is differentiated with der=0")
krogh_left = left(interpolate.krogh_interpolate, "it is differentiated with der=0")
pchip_left = left(interpolate.pchip_interpolate, "it is differentiated with one der at a time")


@definition(interpolate.barycentric_interpolate)
def barycentric_interpolate(xi, yi, x, axis=0, *, der=0):
    if isinstance(der, (list, tuple)) or der != 0:
        return barycentric_left(xi, yi, x, axis, der=der)
    return barycentric_interpolator(xi, yi, axis)(x)


@definition(interpolate.krogh_interpolate)
def krogh_interpolate(xi, yi, x, der=0, axis=0):
    if isinstance(der, (list, tuple)) or der != 0:
        return krogh_left(xi, yi, x, der, axis)
    return krogh_interpolator(xi, yi, axis)(x)


@definition(interpolate.pchip_interpolate)
def pchip_interpolate(xi, yi, x, der=0, axis=0):
    if isinstance(der, (list, tuple)):
        return pchip_left(xi, yi, x, der, axis)
    return pchip(xi, yi, axis)(x, der)


FITS = "it has no rule; use CubicSpline, PchipInterpolator, make_interp_spline or BSpline"
refuse(
    *(
        getattr(interpolate, name)
        for name in (
            "approximate_taylor_polynomial bisplrep generate_knots "
            "insert make_lsq_spline make_smoothing_spline make_splprep "
            "make_splrep pade spalde splantider splder splint sproot "
            "AAA BPoly BivariateSpline FloaterHormannInterpolator LSQBivariateSpline "
            "LSQSphereBivariateSpline LSQUnivariateSpline NdBSpline NdPPoly "
            "RectSphereBivariateSpline SmoothBivariateSpline "
            "SmoothSphereBivariateSpline"
        ).split()
        if hasattr(interpolate, name)
    ),
    reason=FITS,
)
refuse(
    *(
        getattr(interpolate, name)
        for name in ("CloughTocher2DInterpolator Rbf interp2d").split()
        if hasattr(interpolate, name)
    ),
    reason="it has no rule; use RBFInterpolator, LinearNDInterpolator or RegularGridInterpolator",
)
