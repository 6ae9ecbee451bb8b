"""The arithmetic of coefficients in the bases of `np.polynomial`: sums, products, integrals.

Most of it is linear in the coefficients, and so is the adjoint, with the transposed matrix: that of
what the function makes of each unit vector. A product is linear in both factors, and its adjoint a
product again: of orthogonal polynomials of norm h, the number that says how much of p[k] there is
in p[i] p[j], times h[k], is the same whichever two of the three are multiplied.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
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


@functools.lru_cache(maxsize=100)
def images(function: Callable[..., Any], n: int) -> Any:
    """What a linear function of n coefficients makes of each unit vector, row by row."""
    rows = [function(unit) for unit in np.eye(n)]
    result = np.zeros((n, max(map(len, rows), default=0)))
    for row, image in zip(result, rows, strict=True):
        row[: len(image)] = image
    result.flags.writeable = False
    return result


zero(images)

# The squares of the norms of the orthogonal polynomials, but for a common factor


def chebyshev_norms(n):
    norms = np.full(n, 0.5)
    norms[:1] = 1.0
    return norms


def legendre_norms(n):
    return 2.0 / (2.0 * np.arange(n) + 1.0)


def hermite_norms(n):
    return np.cumprod(np.maximum(2.0 * np.arange(n), 1.0))


def hermite_e_norms(n):
    return np.cumprod(np.maximum(1.0 * np.arange(n), 1.0))


def laguerre_norms(n):
    return np.ones(n)


NORMS = {
    "cheb": chebyshev_norms,
    "leg": legendre_norms,
    "herm": hermite_norms,
    "herme": hermite_e_norms,
    "lag": laguerre_norms,
}


def whole_product(prefix, c1, c2):
    """The product of two series, with zeros at the end if there are any. Called by generated code.

    >>> whole_product("cheb", np.array([0.0, 1.0]), np.array([0.0, 0.0, 1.0]))
    array([0. , 0.5, 0. , 0.5])
    """
    times = getattr(BASES[prefix][0], f"{prefix}mul")
    return of_length(times(c1, c2), len(c1) + len(c2) - 1)


@adjoint(whole_product)
def d_whole_product(prefix, c1, c2, *, out, d_out):
    return None, *d_factors(prefix, c1, c2, d_out)


def d_factors(prefix, c1, c2, d_out):
    """The adjoints of the factors of a product that has all its coefficients."""
    norms = NORMS[prefix]
    weighted = d_out / norms(len(d_out))
    d_c1 = whole_product(prefix, weighted, c2)[: len(c1)] * norms(len(c1))
    d_c2 = whole_product(prefix, weighted, c1)[: len(c2)] * norms(len(c2))
    return d_c1, d_c2


def _register(prefix: str, module: Any) -> None:
    def named(suffix: str) -> Any:
        return getattr(module, prefix + suffix)

    times, slope, integral, vander = (named(name) for name in ("mul", "der", "int", "vander"))

    @adjoint(named("add"))
    def add(c1, c2, *, out, d_out):
        return of_length(d_out, len(c1)), of_length(d_out, len(c2))

    @adjoint(named("sub"))
    def sub(c1, c2, *, out, d_out):
        return of_length(d_out, len(c1)), -of_length(d_out, len(c2))

    def linear(function):
        @adjoint(function)
        def backward(c, *, out, d_out):
            matrix = images(function, len(c))
            return matrix[:, : len(d_out)] @ d_out

    linear(named("mulx"))

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

    linear(named("2poly"))
    linear(getattr(module, f"poly2{prefix}"))

    @adjoint(slope)
    def derivative(c, m=1, scl=1, axis=0, *, out, d_out):
        matrix = slope(np.eye(c.shape[axis]), m)
        return through(matrix, scl**m * d_out, axis), None, BY_SCALE

    @adjoint(integral)
    def antiderivative(c, m=1, k=[], lbnd=0, scl=1, axis=0, *, out, d_out):  # noqa: B006
        matrix = integral(np.eye(c.shape[axis]), m, [], lbnd)
        return through(matrix, scl**m * d_out, axis), None, BY_CONSTANTS, BY_CONSTANTS, BY_SCALE

    @adjoint(vander)
    def powers(x, deg, *, out, d_out):
        matrix = slope(np.eye(deg + 1))
        slopes = out[..., : matrix.shape[0]] @ matrix
        return np.sum(d_out * slopes, axis=-1)

    @definition(named("fit"))
    def fit(x, y, deg, rcond=None, full=False, w=None):
        if full or np.ndim(deg):
            raise NotImplementedError("of a number as the degree, and not in full, it has a rule")
        columns = vander(x, deg)
        y = np.asarray(y)
        if w is not None:
            columns = columns * w[:, None]
            y = y * w if y.ndim == 1 else y * w[:, None]
        scale = np.sqrt(np.sum(columns * columns, axis=0))
        rcond = len(x) * 2.0**-52 if rcond is None else rcond
        c = np.linalg.lstsq(columns / scale, y, rcond)[0]
        return c / scale if y.ndim == 1 else c / scale[:, None]

    kind(named("2poly"), getattr(module, f"poly2{prefix}"))(of_some_length)
    kind(slope, integral)(of_another_length)


def through(matrix, d_out, axis):
    """The transposed matrix, applied along an axis."""
    if d_out.ndim == 1:
        return matrix.T @ d_out
    return np.moveaxis(np.tensordot(matrix.T, np.moveaxis(d_out, axis, 0), 1), 0, axis)


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
