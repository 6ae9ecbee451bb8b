"""The arithmetic of coefficients in the bases of `np.polynomial`: sums, products, integrals.

Most of it is linear in the coefficients, and so is the adjoint: what is a recurrence from one
coefficient to the next is one the other way round. A product is linear in both factors, and its
adjoint a product again: of orthogonal polynomials of norm h, the number that says how much of p[k]
there is in p[i] p[j], times h[k], is the same whichever two of the three are multiplied.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis.inference import Inferred
from ..kinds import Array, fresh_size
from .polynomials import BASES
from .registry import Unknown, adjoint, classified, definition, inert, kind, refuse, tangent, zero
from .scipy.kinds import floating, operand_kind

BY_SCALE = Unknown("by the scale it has no rule: multiply the result")
BY_CONSTANTS = Unknown("by the constants of integration it has no rule: add them")


def of_length(c, n):
    """Coefficients cut, or with zeros behind, to n of them: NumPy leaves out those behind that are
    zero."""
    d_c = np.zeros(n, c.dtype)
    d_c[: len(c)] = c[:n]
    return d_c


# What x times the polynomial k is: so much of the next, of itself, and of the one before

RECURRENCES = {
    "cheb": lambda k: (np.where(k > 0, 0.5, 1.0), None, np.where(k > 0, 0.5, 0.0)),
    "leg": lambda k: ((k + 1) / (2 * k + 1), None, k / (2 * k + 1)),
    "herm": lambda k: (np.full(len(k), 0.5), None, k),
    "herme": lambda k: (np.ones(len(k)), None, k),
    "lag": lambda k: (-(k + 1), 2 * k + 1, -k),
}


def recurrence(prefix, n):
    """The factors of the first n of a basis."""
    return RECURRENCES[prefix](1.0 * np.arange(n))


def transposed_by_x(factors, d):
    """The transposed multiplication by x: of one adjoint less than there are."""
    up, here, down = factors
    result = up * d[1:]
    if here is not None:
        result = result + here * d[:-1]
    return result + down * np.concatenate([d[:1], d[:-2]])


# The transposed derivative, from the second coefficient on. The derivatives of Chebyshev's and
# Legendre's polynomials are sums of every other one before.


def slopes_of_chebyshev(d):
    first = np.where(np.arange(len(d)) > 0, 1.0, 0.5)
    return weighted(2.0 * np.arange(1, len(d) + 1), every_other(weighted(first, d)))


def slopes_of_legendre(d):
    return every_other(weighted(2.0 * np.arange(len(d)) + 1.0, d))


SLOPES = {
    "cheb": slopes_of_chebyshev,
    "leg": slopes_of_legendre,
    "herm": lambda d: weighted(2.0 * np.arange(1, len(d) + 1), d),
    "herme": lambda d: weighted(1.0 * np.arange(1, len(d) + 1), d),
    "lag": lambda d: -np.cumsum(d, axis=0),
}

# The transposed integral, of what there is from the second coefficient on


def integral_of_chebyshev(d):
    k = np.arange(1.0, len(d) + 1)
    parts = weighted(0.5 / k, d)
    first = weighted(np.where(k > 1, 1.0, 2.0), parts)
    return first - np.concatenate([0.0 * d[:2], parts])[: len(d)]


def integral_of_legendre(d):
    before = np.concatenate([0.0 * d[:2], d])[: len(d)]
    return weighted(1.0 / (2.0 * np.arange(len(d)) + 1.0), d - before)


INTEGRALS = {
    "cheb": integral_of_chebyshev,
    "leg": integral_of_legendre,
    "herm": lambda d: weighted(0.5 / np.arange(1, len(d) + 1), d),
    "herme": lambda d: weighted(1.0 / np.arange(1, len(d) + 1), d),
    "lag": lambda d: np.concatenate([0.0 * d[:1], d])[: len(d)] - d,
}


def weighted(weights, d):
    """Weights along the first axis."""
    return weights.reshape((-1,) + (1,) * (d.ndim - 1)) * d


def every_other(d):
    """The sums up to each, of every other one."""
    sums = np.zeros_like(d)
    sums[::2] = np.cumsum(d[::2], axis=0)
    sums[1::2] = np.cumsum(d[1::2], axis=0)
    return sums


def behind_zero(d):
    return np.concatenate([0.0 * d[:1], d])


def whole_product(prefix, c1, c2):
    """The product of two series, with zeros at the end if there are any. Called by generated code.

    >>> whole_product("cheb", np.array([0.0, 1.0]), np.array([0.0, 0.0, 1.0]))
    array([0. , 0.5, 0. , 0.5])
    """
    times = getattr(BASES[prefix][0], f"{prefix}mul")
    return of_length(times(c1, c2), len(c1) + len(c2) - 1)


adjoint(whole_product)(
    lambda prefix, c1, c2, *, out, d_out: (None, *d_factors(prefix, c1, c2, d_out))
)


def d_factors(prefix, c1, c2, d_out):
    """The adjoints of the factors of a product that has all its coefficients.

    Each polynomial of the basis in turn, of the transposed multiplication by x, is applied to
    `d_out`: as many as the shorter factor has coefficients. Chebyshev's series are cosines, whose
    products are convolutions, as in NumPy.
    """
    if prefix == "cheb":
        return d_times_cosines(d_out, len(c1), c2), d_times_cosines(d_out, len(c2), c1)
    if len(c1) < len(c2):
        d_c2, d_c1 = d_long_and_short(prefix, c2, c1, d_out)
    else:
        d_c1, d_c2 = d_long_and_short(prefix, c1, c2, d_out)
    return d_c1, d_c2


def d_times_cosines(d_out, n, c):
    """The adjoint of n coefficients that are multiplied by the series c, continued evenly."""
    d_even = np.concatenate([d_out[len(c) - 1 : 0 : -1], d_out])
    even = np.concatenate([0.5 * c[:0:-1], c[:1], 0.5 * c[1:]])
    return np.convolve(d_even, even, "valid")


def next_of_basis(factors, k, by_x, now, before):
    """The polynomial k + 1, of k times x, k, and k - 1."""
    up, here, down = factors
    result = by_x - down[k] * before
    if here is not None:
        result = result - here[k] * now
    return result / up[k]


def d_long_and_short(prefix, c1, c2, d_out):
    n = len(c1)
    factors = recurrence(prefix, len(d_out))
    now, before = d_out, np.zeros_like(d_out)
    d_c1, d_c2 = np.zeros(n, d_out.dtype), np.zeros(len(c2), d_out.dtype)
    for k in range(len(c2)):
        d_c1 = d_c1 + c2[k] * now[:n]
        d_c2[k] = np.sum(now[:n] * c1)
        by_x = transposed_by_x(factors, np.concatenate([now, now[:1]]))
        later = next_of_basis(factors, k, by_x, now, before)
        before = now
        now = later
    return d_c1, d_c2


def _register(prefix: str, module: Any) -> None:
    def named(suffix: str) -> Any:
        return getattr(module, prefix + suffix)

    times, slope, integral, vander = (named(name) for name in ("mul", "der", "int", "vander"))

    adjoint(named("add"))(
        lambda c1, c2, *, out, d_out: (of_length(d_out, len(c1)), of_length(d_out, len(c2)))
    )
    adjoint(named("sub"))(
        lambda c1, c2, *, out, d_out: (of_length(d_out, len(c1)), -of_length(d_out, len(c2)))
    )

    @adjoint(named("mulx"))
    def by_x(c, *, out, d_out):
        n = len(c)
        d = of_length(d_out, n + 1)
        return d[1:] if prefix == "poly" else transposed_by_x(recurrence(prefix, n), d)

    @definition(named("pow"))
    def power(c, pow, maxpower=16):
        product = np.asarray(c)
        if pow == 0:
            return np.ones(1, product.dtype)
        for _ in range(1, pow):
            product = times(product, c)
        return product

    @definition(named("vander2d"))
    def vander_2d(x, y, deg):
        product = vander(x, deg[0])[..., :, None] * vander(y, deg[1])[..., None, :]
        return product.reshape((*np.shape(x), (deg[0] + 1) * (deg[1] + 1)))

    @definition(named("vander3d"))
    def vander_3d(x, y, z, deg):
        first = vander(x, deg[0])[..., :, None, None] * vander(y, deg[1])[..., None, :, None]
        product = first * vander(z, deg[2])[..., None, None, :]
        return product.reshape((*np.shape(x), (deg[0] + 1) * (deg[1] + 1) * (deg[2] + 1)))

    kind(named("add"), named("sub"), named("mulx"), times)(of_some_length)
    if prefix == "poly":
        return

    @adjoint(times)
    def product(c1, c2, *, out, d_out):
        return d_factors(prefix, c1, c2, of_length(d_out, len(c1) + len(c2) - 1))

    @tangent(times)
    def t_product(c1, c2, *, out, tangents):
        t_c1, t_c2 = tangents
        if t_c2 is None:
            return of_length(whole_product(prefix, t_c1, c2), len(out))
        t_out = of_length(whole_product(prefix, c1, t_c2), len(out))
        if t_c1 is None:
            return t_out
        return t_out + of_length(whole_product(prefix, t_c1, c2), len(out))

    @adjoint(named("2poly"))
    def to_powers(c, *, out, d_out):
        n = len(c)
        factors = recurrence(prefix, n)
        now = of_length(d_out, n)
        before = np.zeros_like(now)
        d_c = np.zeros_like(now)
        for k in range(n):
            d_c[k] = now[0]
            by_x = np.concatenate([now[1:], now[:1]])
            later = next_of_basis(factors, k, by_x, now, before)
            before = now
            now = later
        return d_c

    @adjoint(getattr(module, f"poly2{prefix}"))
    def of_powers(c, *, out, d_out):
        n = len(c)
        factors = recurrence(prefix, n)
        now = of_length(d_out, n)
        d_c = np.zeros_like(now)
        for k in range(n):
            d_c[k] = now[0]
            now = transposed_by_x(factors, np.concatenate([now, now[:1]]))
        return d_c

    @adjoint(slope)
    def derivative(c, m=1, scl=1, axis=0, *, out, d_out):
        n, d_c = c.shape[axis], np.moveaxis(d_out, axis, 0)
        if n <= m:
            return np.zeros(c.shape, d_out.dtype), None, BY_SCALE
        for _ in range(m):
            d_c = behind_zero(SLOPES[prefix](scl * d_c))
        return np.moveaxis(d_c, 0, axis), None, BY_SCALE

    @adjoint(integral)
    def antiderivative(c, m=1, k=[], lbnd=0, scl=1, axis=0, *, out, d_out):  # noqa: B006
        d_c = np.moveaxis(d_out, axis, 0)
        for _ in range(m):  # of a number that is zero NumPy has no slope
            d_c = scl * d_c if len(d_c) < 2 else INTEGRALS[prefix](at_bound(lbnd, scl * d_c))
        return np.moveaxis(d_c, 0, axis), None, BY_CONSTANTS, BY_CONSTANTS, BY_SCALE

    def at_bound(lbnd, d):
        """Without the constant, which lets the integral vanish at the bound."""
        d_rest = d - weighted(vander(lbnd, len(d) - 1), d[:1])
        return d_rest[1:]

    @adjoint(vander)
    def powers(x, deg, *, out, d_out):
        slopes = slope(d_out, axis=-1)  # of the series with these coefficients
        return np.sum(out[..., : slopes.shape[-1]] * slopes, axis=-1)

    @definition(named("fit"))
    def fit(x, y, deg, rcond=None, full=False, w=None):
        if np.ndim(deg):
            raise NotImplementedError("of a number as the degree it has a rule")
        columns = vander(x, deg)
        y = np.asarray(y)
        if w is not None:
            columns = columns * w[:, None]
            y = y * w if y.ndim == 1 else y * w[:, None]
        scale = np.sqrt(np.sum(columns * columns, axis=0))
        rcond = len(x) * 2.0**-52 if rcond is None else rcond
        c, *status = np.linalg.lstsq(columns / scale, y, rcond)
        c = c / scale if y.ndim == 1 else c / scale[:, None]
        return (c, [*status, rcond]) if full else c

    kind(named("2poly"), getattr(module, f"poly2{prefix}"))(of_some_length)
    kind(slope, integral)(of_another_length)


def of_some_length(args: Any, kwargs: Any) -> Inferred | None:
    """Zeros at the end are left out, so that the length depends on the values."""
    found = [operand_kind(a) for a in args]
    if any(k is None for k in found):
        return None
    return Inferred(Array(floating(*(k.dtype for k in found if k)), (fresh_size(),)))


@kind(whole_product)
def product_kind(args: Any, kwargs: Any) -> Inferred | None:
    """The length is a sum, which samples would take for a number."""
    return of_some_length(args[1:], kwargs)


def of_another_length(args: Any, kwargs: Any) -> Inferred | None:
    """Samples would take the length for a dimension."""
    found = operand_kind(args[0]) if args else None
    if found is None or not isinstance(found, Array) or found.shape is None:
        return None
    return Inferred(Array(floating(found.dtype), tuple(fresh_size() for _ in found.shape)))


def _file_the_rest(module: Any) -> None:
    for name in module.__all__:
        function = getattr(module, name)
        if isinstance(function, type) or not callable(function) or classified(function):
            continue
        if name.endswith(("gauss", "weight", "pts1", "pts2")):
            zero(function, note="nodes and weights")
        else:
            reason = "it has no rule: use the sums, products, slopes and values of series"
            refuse(function, reason=reason)


for _prefix, (_module, _) in BASES.items():
    _register(_prefix, _module)
    _file_the_rest(_module)
inert(np.polynomial.set_default_printstyle)
