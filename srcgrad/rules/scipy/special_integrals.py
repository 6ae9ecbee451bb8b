"""Special functions that are integrals: elliptic, hypergeometric, distribution functions."""

from __future__ import annotations

import numpy as np
from scipy import special

from ..registry import adjoint, definition, elementwise
from ..shaping import present
from .special_arguments import BY_ORDER, BY_SHAPE
from .special_gamma import beta_density, gamma_density

# Integrals


@elementwise(special.ellipk)
def ellipk(m, *, out):
    """DLMF 19.25.1: in Carlson's form nothing cancels near 0."""
    return special.elliprd(0, 1, 1 - m) / 6


elementwise(special.ellipkm1)(lambda p, *, out: -special.elliprd(0, 1, p) / 6)
elementwise(special.ellipe)(lambda m, *, out: -special.elliprd(0, 1 - m, 1) / 6)


@elementwise(special.ellipkinc)
def ellipkinc(phi, m, *, out):
    turns = np.round(phi / np.pi)
    s, c = np.sin(phi - np.pi * turns), np.cos(phi)
    squared = 1 - m * s * s
    d_m = s**3 * special.elliprd(c * c, 1, squared) / 6
    return 1 / np.sqrt(squared), d_m + turns * special.elliprd(0, 1, 1 - m) / 3


@elementwise(special.ellipeinc)
def ellipeinc(phi, m, *, out):
    turns = np.round(phi / np.pi)
    s, c = np.sin(phi - np.pi * turns), np.cos(phi)
    squared = 1 - m * s * s
    d_m = -(s**3) * special.elliprd(c * c, squared, 1) / 6
    return np.sqrt(squared), d_m - turns * special.elliprd(0, 1 - m, 1) / 3


@elementwise(special.elliprf)
def elliprf(x, y, z, *, out):
    return (
        -special.elliprd(y, z, x) / 6,
        -special.elliprd(x, z, y) / 6,
        -special.elliprd(x, y, z) / 6,
    )


@elementwise(special.elliprd)
def elliprd(x, y, z, *, out):
    """The derivative of Carlson's duplication (DLMF 19.26.18, 19.36) of each step."""
    x, y, z = np.broadcast_arrays(x, y, z)
    places = np.stack((x, y, z))
    moved = np.reshape(np.eye(3), (3, 3) + (1,) * np.ndim(x)) + 0 * places  # by x, by y, by z
    slopes, weight = 0 * places, 1.0
    for _ in range(16):
        there = places != 0
        roots = there * np.sqrt(np.where(there, places, 1))
        d_roots = there * moved / np.where(there, 2 * roots, 1)
        others = roots[[1, 2, 0]] + roots[[2, 0, 1]]
        more = np.sum(roots * others, axis=0) / 2
        d_more = np.sum(d_roots * others, axis=1)
        last = places[2] + more
        d_last = d_roots[:, 2] / roots[2] + (moved[:, 2] + d_more) / last
        slopes = slopes - weight * 3 / (roots[2] * last) * d_last
        places, moved = (places + more) / 4, (moved + d_more[:, np.newaxis]) / 4
        weight = weight / 4
    mean = (places[0] + places[1] + 3 * places[2]) / 5
    d_mean = (moved[:, 0] + moved[:, 1] + 3 * moved[:, 2]) / 5
    slopes = slopes - weight * 1.5 / (mean**2 * np.sqrt(mean)) * d_mean
    d_x, d_y = np.where(x == 0, -np.inf, slopes[0]), np.where(y == 0, -np.inf, slopes[1])
    return d_x, d_y, slopes[2]


@adjoint(special.ellipj, unused=None)
def ellipj(u, m, *, out, d_out):
    sn, cn, dn, _ = out
    d_sn, d_cn, d_dn, d_ph = d_out
    d_u = 0
    if d_sn is not None:
        d_u = d_u + d_sn * cn * dn
    if d_cn is not None:
        d_u = d_u - d_cn * sn * dn
    if d_dn is not None:
        d_u = d_u - d_dn * m * sn * cn
    if d_ph is not None:
        d_u = d_u + d_ph * dn
    return d_u, BY_SHAPE


elementwise(special.expi)(lambda x, *, out: np.exp(x) / x)
elementwise(special.exp1)(lambda z, *, out: -np.exp(-z) / z)


@elementwise(special.expn)
def expn(n, x, *, out):
    of_0 = -out * (1 + 1 / x)
    return BY_ORDER, np.where(n == 0, of_0, -special.expn(np.maximum(n - 1, 0), x))


@adjoint(special.sici, unused=None)
def sici(x, *, out, d_out):
    d_si, d_ci = d_out
    d_x = 0
    if d_si is not None:
        d_x = d_si * (np.sin(x) / x if np.iscomplexobj(x) else np.sinc(x / np.pi))
    if d_ci is not None:
        d_x = d_x + d_ci * np.cos(x) / x
    return d_x


@adjoint(special.shichi, unused=None)
def shichi(x, *, out, d_out):
    d_shi, d_chi = d_out
    d_x = 0
    if d_shi is not None:
        near = np.abs(x) < 1
        far = np.where(near, 1.0, x)  # close to 0, where nothing may be divided by it: a series
        series = special.hyp0f1(1.5, np.where(near, x, 0.0) ** 2 / 4)
        d_x = d_shi * np.where(near, series, np.sinh(far) / far)
    if d_chi is not None:
        d_x = d_x + d_chi * np.cosh(x) / x
    return d_x


def of_several(*slopes):
    """The rule of a function of x with several results, of these derivatives."""

    def rule(x, *, out, d_out):
        total = 0
        for slope, d in zip(slopes, d_out, strict=True):
            if d is not None:
                total = total + d * slope(x)
        return total

    return rule


adjoint(special.itj0y0, unused=None)(of_several(special.j0, special.y0))
adjoint(special.iti0k0, unused=None)(of_several(special.i0, special.k0))

adjoint(special.it2j0y0)(
    lambda x, *, out, d_out: d_out[0] * (1 - special.j0(x)) / x - d_out[1] * special.y0(x) / x
)
adjoint(special.it2i0k0)(
    lambda x, *, out, d_out: d_out[0] * (special.i0(x) - 1) / x - d_out[1] * special.k0(x) / x
)
elementwise(special.itstruve0)(lambda x, *, out: special.struve(0, x))
elementwise(special.itmodstruve0)(lambda x, *, out: special.modstruve(0, x))


@elementwise(special.elliprc)
def elliprc(x, y, *, out):
    """Where both are close, by out = 2F1(1/2, 1/2; 3/2; 1 - x / y) / sqrt(y), DLMF 19.2.17."""
    near = np.abs(x - y) < 0.1 * np.abs(y)
    p, q = np.where(near, x, 1.0), np.where(near, y, 1.0)
    series = special.hyp2f1(1.5, 1.5, 2.5, 1 - p / q) / (6 * q * np.sqrt(q))
    twice = np.where(near, 1.0, 2 * (y - x))
    d_x = np.where(near, -series, (out - 1 / np.sqrt(x)) / twice)
    d_y = np.where(near, series * p / q - out / (2 * q), (np.sqrt(x) / y - out) / twice)
    return d_x, d_y


definition(special.assoc_laguerre)(lambda x, n, k=0.0: special.eval_genlaguerre(n, k, x))


@elementwise(special.spence)
def spence(z, *, out):
    past = z - 1
    if np.iscomplexobj(z):
        return -np.log(z) / past
    near = np.abs(past) < 0.1
    far = np.where(near, 1.0, past)
    series = special.hyp2f1(1.0, 1.0, 2.0, np.where(near, -past, 0.0))
    return -np.where(near, series, np.log1p(far) / far)


# Hypergeometric functions, polynomials

elementwise(special.hyp0f1)(lambda v, z, *, out: (BY_SHAPE, special.hyp0f1(v + 1, z) / v))
elementwise(special.hyp1f1)(
    lambda a, b, x, *, out: (BY_SHAPE, BY_SHAPE, a / b * special.hyp1f1(a + 1, b + 1, x))
)


@elementwise(special.hyp2f1)
def hyp2f1(a, b, c, z, *, out):
    return BY_SHAPE, BY_SHAPE, BY_SHAPE, a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, z)


elementwise(special.hyperu)(
    lambda a, b, x, *, out: (BY_SHAPE, BY_SHAPE, -a * special.hyperu(a + 1, b + 1, x))
)
elementwise(special.wright_bessel)(
    lambda a, b, x, *, out: (BY_SHAPE, BY_SHAPE, special.wright_bessel(a, a + b, x))
)


@elementwise(special.log_wright_bessel)
def log_wright_bessel(a, b, x, *, out):
    return BY_SHAPE, BY_SHAPE, np.exp(special.log_wright_bessel(a, a + b, x) - out)


@elementwise(special.eval_legendre)
def eval_legendre(n, x, *, out):
    return BY_ORDER, np.where(n == 0, 0.0, 0.5 * (n + 1) * special.eval_jacobi(n - 1, 1, 1, x))


@elementwise(special.lpmv)
def lpmv(m, v, x, *, out):
    """DLMF 14.10.5."""
    below = np.where(v + m == 0, 0.0, special.lpmv(m, v - 1, x))
    return BY_ORDER, BY_ORDER, (v * x * out - (v + m) * below) / (x * x - 1)


@elementwise(*present(special, "sph_harm_y"))
def sph_harm_y(n, m, theta, phi, *, out):
    """By the harmonics with the next m on either side, to which the ladder operators lead: so there
    is no cotangent, which is infinite at the poles. Beyond these SciPy's are even."""
    n, m = np.asarray(n), np.asarray(m)
    up = np.sqrt(np.maximum((n - m) * (n + m + 1.0), 0.0)) * np.exp(-1j * phi)
    down = np.sqrt(np.maximum((n + m) * (n - m + 1.0), 0.0)) * np.exp(1j * phi)
    above = special.sph_harm_y(n, m + 1, theta, phi)
    below = special.sph_harm_y(n, m - 1, theta, phi)
    slope = np.where(np.sin(theta) < 0, -0.5, 0.5) * (up * above - down * below)
    return BY_ORDER, BY_ORDER, slope, 1j * m * out


@elementwise(special.eval_jacobi)
def eval_jacobi(n, alpha, beta, x, *, out):
    inner = special.eval_jacobi(n - 1, alpha + 1, beta + 1, x)
    slope = np.where(n == 0, 0.0, 0.5 * (n + alpha + beta + 1) * inner)
    return BY_ORDER, BY_SHAPE, BY_SHAPE, slope


elementwise(special.eval_chebyt)(lambda n, x, *, out: (BY_ORDER, n * special.eval_chebyu(n - 1, x)))


def slope_of_second_kind(n, x):
    """The derivative of the Chebyshev polynomial U of order n; that of order -n - 2 is -U."""
    order = np.where(n < -1, -n - 2, n)
    constant = (order == 0) | (order == -1)
    slope = 2 * special.eval_gegenbauer(np.where(constant, 1, order) - 1, 2, x)
    return np.where(constant, 0.0, np.where(n < -1, -slope, slope))


elementwise(special.eval_chebyu)(lambda n, x, *, out: (BY_ORDER, slope_of_second_kind(n, x)))
elementwise(special.eval_chebyc)(lambda n, x, *, out: (BY_ORDER, n * special.eval_chebys(n - 1, x)))


elementwise(special.eval_chebys)(
    lambda n, x, *, out: (BY_ORDER, 0.5 * slope_of_second_kind(n, 0.5 * x))
)


@elementwise(special.eval_gegenbauer)
def eval_gegenbauer(n, alpha, x, *, out):
    inner = special.eval_gegenbauer(n - 1, alpha + 1, x)
    return BY_ORDER, BY_SHAPE, np.where(n == 0, 0.0, 2 * alpha * inner)


@elementwise(special.eval_hermite)
def eval_hermite(n, x, *, out):
    return BY_ORDER, np.where(n == 0, 0.0, 2 * n * special.eval_hermite(np.maximum(n - 1, 0), x))


@elementwise(special.eval_hermitenorm)
def eval_hermitenorm(n, x, *, out):
    return BY_ORDER, np.where(n == 0, 0.0, n * special.eval_hermitenorm(np.maximum(n - 1, 0), x))


elementwise(special.eval_laguerre)(
    lambda n, x, *, out: (BY_ORDER, np.where(n == 0, 0.0, -special.eval_genlaguerre(n - 1, 1, x)))
)


@elementwise(special.eval_genlaguerre)
def eval_genlaguerre(n, alpha, x, *, out):
    inner = special.eval_genlaguerre(n - 1, alpha + 1, x)
    return BY_ORDER, BY_SHAPE, np.where(n == 0, 0.0, -inner)


@elementwise(special.eval_sh_legendre)
def eval_sh_legendre(n, x, *, out):
    inner = special.eval_jacobi(n - 1, 1, 1, 2 * x - 1)
    return BY_ORDER, np.where(n == 0, 0.0, (n + 1) * inner)


elementwise(special.eval_sh_chebyt)(
    lambda n, x, *, out: (BY_ORDER, 2 * n * special.eval_chebyu(n - 1, 2 * x - 1))
)


@elementwise(special.eval_sh_chebyu)
def eval_sh_chebyu(n, x, *, out):
    inner = special.eval_gegenbauer(n - 1, 2, 2 * x - 1)
    return BY_ORDER, np.where(n == 0, 0.0, 4 * inner)


# Distribution functions


def t_density(df, t):
    half = 0.5 * (df + 1)
    log = -half * np.log1p(t * t / df) - special.betaln(0.5 * df, 0.5)
    return np.exp(log) / np.sqrt(df)


elementwise(special.stdtr)(lambda df, t, *, out: (BY_SHAPE, t_density(df, t)))
elementwise(special.stdtrit)(lambda df, p, *, out: (BY_SHAPE, 1 / t_density(df, out)))
elementwise(special.chdtr)(lambda v, x, *, out: (BY_SHAPE, 0.5 * gamma_density(0.5 * v, 0.5 * x)))
elementwise(special.chdtrc)(lambda v, x, *, out: (BY_SHAPE, -0.5 * gamma_density(0.5 * v, 0.5 * x)))
elementwise(special.chdtri)(lambda v, p, *, out: (BY_SHAPE, -2 / gamma_density(0.5 * v, 0.5 * out)))


def f_density(dfn, dfd, x):
    ratio = dfn * x / (dfd + dfn * x)
    scale = dfn * dfd / (dfd + dfn * x) ** 2
    return scale * beta_density(0.5 * dfn, 0.5 * dfd, ratio)


elementwise(special.fdtr)(lambda dfn, dfd, x, *, out: (BY_SHAPE, BY_SHAPE, f_density(dfn, dfd, x)))
elementwise(special.fdtrc)(
    lambda dfn, dfd, x, *, out: (BY_SHAPE, BY_SHAPE, -f_density(dfn, dfd, x))
)
elementwise(special.fdtri)(
    lambda dfn, dfd, p, *, out: (BY_SHAPE, BY_SHAPE, 1 / f_density(dfn, dfd, out))
)


@elementwise(special.gdtr)
def gdtr(a, b, x, *, out):
    density = gamma_density(b, a * x)
    return x * density, BY_SHAPE, a * density


@elementwise(special.gdtrc)
def gdtrc(a, b, x, *, out):
    density = gamma_density(b, a * x)
    return -x * density, BY_SHAPE, -a * density


def binomial_slope(k, n, p):
    """The derivative of the binomial distribution function by p."""
    k = np.floor(k)
    return (k - n) * special.binom(n, k) * p**k * (1 - p) ** (n - k - 1)


elementwise(special.bdtr)(lambda k, n, p, *, out: (None, BY_SHAPE, binomial_slope(k, n, p)))
elementwise(special.bdtrc)(lambda k, n, p, *, out: (None, BY_SHAPE, -binomial_slope(k, n, p)))
elementwise(special.pdtr)(lambda k, m, *, out: (None, -gamma_density(np.floor(k) + 1, m)))
elementwise(special.pdtrc)(lambda k, m, *, out: (None, gamma_density(np.floor(k) + 1, m)))
elementwise(special.nbdtr)(
    lambda k, n, p, *, out: (None, BY_SHAPE, beta_density(n, np.floor(k) + 1, p))
)
elementwise(special.nbdtrc)(
    lambda k, n, p, *, out: (None, BY_SHAPE, -beta_density(n, np.floor(k) + 1, p))
)
